import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** A fenced block of code on a page, ```` ```ts file=src/live.ts ````. */
export interface Sample {
  /** The path from the root of the project. */
  readonly page: string;
  /** The heading above it; empty before the first. */
  readonly section: string;
  /** The line of the page on which the code begins. */
  readonly line: number;
  readonly language: string;
  /** The name under which the page's other samples import it; null for a block without a file. */
  readonly file: string | null;
  readonly text: string;
}

const OPENING = /^( *)```(\S*)(?: +file=(\S+))?\s*$/;

/** The samples of a page, or of one section of it. */
export function samplesOf(page: string, section?: string): readonly Sample[] {
  const text = readFileSync(join(root, page), 'utf8');
  const lines = text.split('\n');
  const samples: Sample[] = [];
  let heading = '';
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.startsWith('## ')) heading = lines[at]?.slice(3) ?? '';
    const [, indent = '', language, file = null] = OPENING.exec(lines[at] ?? '') ?? [];
    if (language === undefined) continue;
    const start = at + 1;
    const end = lines.indexOf(`${indent}\`\`\``, start);
    const code = lines.slice(start, end).map((line) => line.slice(indent.length));
    if (section === undefined || section === heading)
      samples.push({
        page,
        section: heading,
        line: start + 1,
        language,
        file,
        text: `${code.join('\n')}\n`,
      });
    at = end;
  }
  return samples;
}

/** The samples that are files of an app, by their paths. */
export function namedSamples(page: string, section?: string): ReadonlyMap<string, Sample> {
  return new Map(
    samplesOf(page, section).flatMap((sample) =>
      sample.file === null ? [] : [[sample.file, sample]],
    ),
  );
}
