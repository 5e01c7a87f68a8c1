export function remind(loan: { due: string; mail: (text: string) => void }): void {
  const left = (Date.parse(loan.due) - Date.now()) / 86_400_000;
  if (left > 0 && left <= 1) loan.mail(`Your book is due on ${loan.due}.`);
}
