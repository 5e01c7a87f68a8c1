import { describe, expect, it, vi } from "vitest";
import { importMembers } from "./import-members";

const store = { get: vi.fn(), set: vi.fn() };
const given = { store, today: "2026-01-30" };
const lines = ["Ada,ada@example.org", "Ben,ben@example.org"];

describe("importMembers", () => {
  it("a good line becomes a member", () => {
    expect(importMembers("Ada,ada@example.org")).toEqual({ members: 1, faults: [] });
  });
});
// Rules tested: a good line becomes a member.
