import { describe, expect, it, vi } from "vitest";
import { lendBook } from "./lend-book";

const store = { get: vi.fn(), set: vi.fn() };
const given = { store, today: "2026-01-30" };

describe("lendBook", () => {
  it("a member without books may borrow one", () => {
    expect(lendBook({ books: 0 })).toEqual("lent");
  });

  it("the third book is lent, the fourth refused", () => {
    expect(lendBook({ books: 2 })).toBe("lent");
    expect(lendBook({ books: 3 })).toBe("refused");
  });

  it("an unpaid fee is given as the reason", () => {
    expect(lendBook({ books: 0, fee: 1 })).toBe("refused: unpaid fee");
  });
});
