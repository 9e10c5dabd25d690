import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface SelfTime {
  readonly where: string;
  /** Of the time in which the process did anything. */
  readonly share: number;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Which functions the time was spent in itself, the most first. */
export function selfTimes(file: string, byFolder = false): SelfTime[] {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const names = new Map(
    nodes.map(({ id, callFrame }) => [id, byFolder ? folderOf(callFrame) : nameOf(callFrame)]),
  );
  const times = new Map<string, number>();
  let busy = 0;
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '?';
    if (name === '(idle)') continue;
    const time = timeDeltas[at] ?? 0;
    busy += time;
    times.set(name, (times.get(name) ?? 0) + time);
  }
  return [...times]
    .map(([where, time]) => ({ where, share: time / busy }))
    .sort((a, b) => b.share - a.share);
}

type Frame = Profile['nodes'][number]['callFrame'];

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const place = placeOf(url);
  return place === ''
    ? functionName
    : `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
}

/** The project's own layers, packages by their name, and Node's parts. */
function folderOf({ functionName, url }: Frame): string {
  const place = placeOf(url);
  if (place === '') return functionName.startsWith('(') ? functionName : 'V8 and native code';
  if (place.startsWith('node:')) return place.split('/').slice(0, 2).join('/');
  const parts = place.split('/');
  return parts[0] === 'node_modules' ? parts.slice(0, 2).join('/') : parts.slice(0, 2).join('/');
}

function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  const path = fileURLToPath(url);
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : path;
}
