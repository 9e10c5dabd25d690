import { globSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');
const GUIDES = 'examples/guides';

/** A fenced block of code on a page, ```` ```ts file=src/live.ts ````, or a file of its guide in `examples/guides`. */
export interface Sample {
  /** The path from the root of the project. */
  readonly page: string;
  /** The line of the page on which the code begins. */
  readonly line: number;
  readonly language: string;
  /** The name under which the page's other samples import it; null for a block that stands by itself. */
  readonly file: string | null;
  readonly text: string;
}

export interface SamplePage {
  readonly samples: readonly Sample[];
  /**
   * Declarations that its samples may take for granted, from a comment that readers do not see:
   * `<!-- globals … -->`.
   */
  readonly globals: string;
}

const GLOBALS = /<!-- globals\n([\s\S]*?)-->/g;
const OPENING = /^( *)```(\S*)(?: +file=(\S+))?\s*$/;

export function readPage(page: string): SamplePage {
  const text = readFileSync(join(root, page), 'utf8');
  const lines = text.split('\n');
  const samples: Sample[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', language, file = null] = OPENING.exec(lines[at] ?? '') ?? [];
    if (language === undefined) continue;
    const start = at + 1;
    const end = lines.indexOf(`${indent}\`\`\``, start);
    const code = lines.slice(start, end).map((line) => line.slice(indent.length));
    samples.push({ page, line: start + 1, language, file, text: `${code.join('\n')}\n` });
    at = end;
  }
  if (page.startsWith('docs/clients/'))
    samples.unshift(
      ...guideFiles(page === 'docs/clients/README.md' ? 'shared' : basename(page, '.md')),
    );
  return { samples, globals: [...text.matchAll(GLOBALS)].map(([, found]) => found).join('') };
}

/** The files that a guide shows by a link alone. */
function guideFiles(guide: string): Sample[] {
  const folder = `${GUIDES}/${guide}`;
  return globSync('**/*.*', { cwd: join(root, folder) }).map((file) => {
    const text = readFileSync(join(root, folder, file), 'utf8');
    const language = extname(file).slice(1);
    return { page: `${folder}/${file}`, line: 1, language, file, text };
  });
}

/** The samples that are files of an app, by their names. */
export function namedSamples(page: string): ReadonlyMap<string, Sample> {
  return new Map(
    readPage(page).samples.flatMap((sample) =>
      sample.file === null ? [] : [[sample.file, sample]],
    ),
  );
}
