export function dueDate(lent: string): string {
  const [year, month, day] = lent.split("-").map(Number);
  const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  return `${next}-${String(day).padStart(2, "0")}`;
}
