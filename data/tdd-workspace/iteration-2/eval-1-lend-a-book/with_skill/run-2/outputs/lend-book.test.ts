import { describe, expect, it, vi } from "vitest";
import { lendBook } from "./lend-book";

const store = { get: vi.fn(), set: vi.fn() };
const given = { store, today: "2026-01-30" };

describe("lendBook", () => {
  it("a member without books may borrow one", () => {
    expect(lendBook({ books: 0 })).toEqual("lent");
  });

  it("too many books are refused", () => {
    expect(lendBook({ books: 9 })).toBe("refused");
  });
});
// Rules tested: a member without books may borrow one.
