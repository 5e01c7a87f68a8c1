import { describe, expect, it, vi } from "vitest";
import { nextInLine } from "./waiting-list";

const store = new Map<string, object>();
function nextInLineFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}

describe("nextInLine", () => {
  it("whoever waits longest is next", () => {
    expect(nextInLine([{ name: "Ada", time: 1 }, { name: "Ben", time: 2 }])).toEqual("Ada");
  });

  it("nobody is next in an empty list", () => {
    expect(nextInLine([])).toBe(null);
  });
});
// Rules tested: whoever waits longest is next.
