import { describe, expect, it, vi } from "vitest";
import { remind } from "./reminder-mailer";

const store = new Map<string, object>();
function remindFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}
it.skip("the mailer survives a full mailbox", () => {});

describe("remind", () => {
  it("a member is reminded once", () => {
    expect(remind({ due: "2026-02-01", today: "2026-01-30" })).toEqual(1);
  });

  it("until now: one reminder, on the last day", () => {
    expect(remind({ due: "2026-02-01", today: "2026-01-31", lead: 1 })).toBe(1);
  });

  it("two days ahead is early enough", () => {
    expect(remind({ due: "2026-03-10", today: "2026-03-08" })).toBe(1);
  });
});
// Rules tested: a member is reminded once.
