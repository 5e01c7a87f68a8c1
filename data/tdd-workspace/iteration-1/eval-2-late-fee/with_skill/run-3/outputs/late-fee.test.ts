import { describe, expect, it, vi } from "vitest";
import { lateFee } from "./late-fee";

const store = new Map<string, object>();
function lateFeeFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}

describe("lateFee", () => {
  it("two days late cost 20 cents", () => {
    expect(lateFee(2)).toEqual(20);
  });

  it("the fee stops at 10 euros", () => {
    expect(lateFee(50)).toBe(980);
    expect(lateFee(52)).toBe(1000);
  });

  it("the first day is free", () => {
    expect(lateFee(1)).toBe(0);
  });
});
// Rules tested: two days late cost 20 cents.
