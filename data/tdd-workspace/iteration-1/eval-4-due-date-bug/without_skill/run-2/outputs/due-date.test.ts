import { describe, expect, it, vi } from "vitest";
import { dueDate } from "./due-date";

const store = { get: vi.fn(), set: vi.fn() };
const given = { store, today: "2026-01-30" };
const lastOfFebruary = "2026-02-28";

describe("dueDate", () => {
  it("a loan in the middle of a month is due a month later", () => {
    expect(dueDate("2026-03-15")).toEqual("2026-04-15");
  });

  it("a loan of 30 January is due at the end of February", () => {
    expect(dueDate("2026-01-30")).toBe(lastOfFebruary);
  });

  it("a leap year has one more day", () => {
    expect(dueDate("2028-01-31")).toMatch(/29$/);
  });
});
// Rules tested: a loan in the middle of a month is due a month later.
