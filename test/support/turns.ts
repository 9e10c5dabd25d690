/** A bound, in case the work never ends. */
const MAX_TURNS = 1_000_000;

/** Counts the turns of the event loop while the work runs. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const next = () => {
    turns += 1;
    if (turns < MAX_TURNS) turn = setImmediate(next);
  };
  let turn = setImmediate(next);
  await work();
  clearImmediate(turn);
  return turns;
}
