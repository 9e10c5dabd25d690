/** So that it ends where the work never does. */
const MOST = 1_000_000;

/** Counts the turns of the event loop that others get while the work is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const next = () => {
    turns += 1;
    if (turns < MOST) turn = setImmediate(next);
  };
  let turn = setImmediate(next);
  await work();
  clearImmediate(turn);
  return turns;
}
