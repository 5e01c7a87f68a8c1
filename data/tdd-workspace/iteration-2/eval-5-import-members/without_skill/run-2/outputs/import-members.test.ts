import { describe, expect, it, vi } from "vitest";
import { importMembers } from "./import-members";

const store = { get: vi.fn(), set: vi.fn() };
function importMembersFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}
const lines = ["Ada,ada@example.org", "Ben,ben@example.org"];

describe("importMembers", () => {
  it("importMembers() works", () => {
    expect(importMembers("Ada,ada@example.org")).toEqual({ members: 1, faults: [] });
  });
});
