import { describe, expect, it, vi } from "vitest";
import { dueDate } from "./due-date";

const store = { get: vi.fn(), set: vi.fn() };
function dueDateFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}
const lastOfFebruary = "the last of February";

describe("dueDate", () => {
  it("a loan in the middle of a month is due a month later", () => {
    expect(dueDate("2026-03-15")).toEqual("2026-04-15");
  });

  it("a loan of 30 January is due at the end of February", () => {
    expect(dueDate("2026-01-30")).toBe(lastOfFebruary);
  });
});
// Rules tested: a loan in the middle of a month is due a month later.
