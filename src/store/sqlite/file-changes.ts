import { statSync } from 'node:fs';

type FileChanges = ReturnType<typeof changesOf>;

/** The rights of every file of the store. */
export const MODE = 0o600;

/** When the file was changed last: to be asked before this program touches it. */
export function changesOf(path: string) {
  const { ctimeNs, mtimeNs, birthtimeNs, mode } = statSync(path, { bigint: true });
  // After the file: whichever commit is under way meanwhile, or cut off, is seen by one of the two.
  const journal = statSync(`${path}-journal`, { throwIfNoEntry: false });
  const isHot = journal !== undefined && journal.size > 0;
  const isFresh = ctimeNs === birthtimeNs;
  return { ctimeNs, mtimeNs, mode: Number(mode) & 0o777, isHot, isFresh };
}

/**
 * Whether something else has written the file since its last commit, as `cp -a` and `cat` do over a file that stays
 * in its place. A power cut can set the ctime back. A commit that was cut off has a later one, equal to the mtime,
 * which copies bring along. Where the rights were changed that explains the ctime, and the mtime has to do.
 */
export function isRewritten(
  { ctimeNs, mtimeNs, mode, isHot }: FileChanges,
  knownNs: bigint | null,
) {
  const lastNs = isHot ? mtimeNs : knownNs;
  return lastNs !== null && (mode === MODE ? ctimeNs : mtimeNs) > lastNs;
}
