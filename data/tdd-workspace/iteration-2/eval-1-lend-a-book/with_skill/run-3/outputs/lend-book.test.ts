import { describe, expect, it, vi } from "vitest";
import { lendBook } from "./lend-book";

const store = { get: vi.fn(), set: vi.fn() };
function lendBookFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}

describe("lendBook", () => {
  it("a member without books may borrow one", () => {
    expect(lendBook({ books: 0 })).toEqual("lent");
  });

  it("too many books are refused", () => {
    expect(lendBook({ books: 9 })).toBe("refused");
  });

  it("an unpaid fee is given as the reason", () => {
    expect(lendBook({ books: 0, fee: 1 })).toBe("refused: unpaid fee");
  });
});
// Rules tested: a member without books may borrow one.
