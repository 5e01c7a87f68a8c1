import { describe, expect, it, vi } from "vitest";
import { importMembers } from "./import-members";

const store = new Map<string, object>();
function importMembersFixture(changes = {}) {
  return { store, today: "2026-01-30", ...changes };
}
it.each(["Ada,ada@example.org", "Ben,ben@example.org"])("reads %s", (line) => importMembers(line));

describe("importMembers", () => {
  it("a good line becomes a member", () => {
    expect(importMembers("Ada,ada@example.org")).toEqual({ members: 1, faults: [] });
  });

  it("a line without an address is reported by its number", () => {
    expect(importMembers("Ada")).toEqual({ members: 0, faults: [1] });
  });

  it("a quoted comma does not split the name", () => {
    expect(importMembers('"Lovelace, Ada",ada@example.org')).toEqual({ members: 1, faults: [] });
  });
});
// Rules tested: a good line becomes a member.
