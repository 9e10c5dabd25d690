import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const IDLE = '(idle)';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The functions by their self time, as a share of the time in which the process did anything, the largest first. */
export function selfTimes(file: string, grouping: 'by function' | 'by part') {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const names = new Map(
    nodes.map(({ id, callFrame }) => {
      // The profiler's own start and end are no work of the program's.
      if (callFrame.url === 'node:inspector') return [id, IDLE];
      return [id, grouping === 'by part' ? partOf(callFrame) : nameOf(callFrame)];
    }),
  );
  const times = new Map<string, number>();
  let busy = 0;
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '?';
    if (name === IDLE) continue;
    const time = timeDeltas[at] ?? 0;
    busy += time;
    times.set(name, (times.get(name) ?? 0) + time);
  }
  return [...times]
    .map(([where, time]) => ({ where, share: time / busy }))
    .sort((a, b) => b.share - a.share);
}

interface AllocationNode {
  readonly callFrame: CallFrame;
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

/** The bytes that each file has allocated, the most first, and what Node was given to wait for. */
export function allocationsIn(file: string) {
  const { profile, waits } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly profile: { readonly head: AllocationNode };
    readonly waits: Readonly<Record<string, number>>;
  };
  const bytes = new Map<string, number>();
  function add({ callFrame, selfSize, children }: AllocationNode): void {
    // The profiler's own messages are no work of the program's.
    if (callFrame.url === 'node:inspector') return;
    const name = placeOf(callFrame.url) || 'native code';
    bytes.set(name, (bytes.get(name) ?? 0) + selfSize);
    for (const child of children) add(child);
  }
  add(profile.head);
  return { bytes: [...bytes].sort((a, b) => b[1] - a[1]), waits };
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const place = placeOf(url);
  return place === ''
    ? functionName
    : `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
}

/** The project's own layers, packages by their name, and Node's parts. */
function partOf({ functionName, url }: CallFrame): string {
  const place = placeOf(url);
  if (place === '') return functionName.startsWith('(') ? functionName : 'native code';
  if (place.startsWith('node:')) return place.split('/').slice(0, 2).join('/');
  const inPackage = place.split('node_modules/').at(-1) as string;
  const [first = '', second = ''] = inPackage.split('/');
  return inPackage === place || first.startsWith('@') ? `${first}/${second}` : first;
}

function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  const path = fileURLToPath(url);
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : path;
}
