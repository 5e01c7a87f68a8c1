import { describe, expect, it, vi } from "vitest";
import { nextInLine } from "./waiting-list";

const store = { get: vi.fn(), set: vi.fn() };
function nextInLineFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}

describe("nextInLine", () => {
  it("nextInLine() works", () => {
    expect(nextInLine([{ name: "Ada", time: 1 }, { name: "Ben", time: 2 }])).toEqual("Ada");
  });

  it("nobody is next in an empty list", () => {
    expect(nextInLine([])).toBe(null);
  });

  it("of two entries of one time, the first written is next", () => {
    expect(nextInLine([{ name: "Cy", time: 1 }, { name: "Ada", time: 1 }])).toBe("Cy");
  });
});
// Rules tested: whoever waits longest is next.
