import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packFile, type StaticFile } from '../http/static-file.ts';

/** The files of the page by their URL paths. */
export interface Assets {
  readonly graphiql: ReadonlyMap<string, StaticFile>;
  /** The project's own files: its modules import each other by relative paths. */
  readonly page: ReadonlyMap<string, StaticFile>;
}

interface File {
  readonly name: string;
  readonly bytes: Buffer;
}

const TYPES = new Map([
  ['js', 'text/javascript'],
  ['css', 'text/css'],
]);

// The browser runs these files as they are, so they are JavaScript, with types in comments.
const PAGE_FOLDER = join(import.meta.dirname, 'page');

export async function loadAssets(): Promise<Assets> {
  const [graphiql, page] = await Promise.all([readGraphiQL(), readPage()]);
  const single = await Promise.all(graphiql.map((file) => published([file])));
  return {
    graphiql: new Map(single.flatMap((entries) => [...entries])),
    page: await published(page),
  };
}

async function readGraphiQL(): Promise<File[]> {
  const { css, js, editorWorkerService, graphqlWorker, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const texts = {
    'graphiql.js': withHistory(js),
    'graphiql.css': css,
    'editor.js': editorWorkerService,
    'json.js': jsonWorker,
    'graphql.js': graphqlWorker,
  };
  return Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
}

/**
 * Adds GraphiQL's history, which yoga's page leaves out: it replaces the default plugins by the
 * explorer, and neither plugin is exported, so no option has both.
 */
function withHistory(js: string): string {
  const [, history] = /\bconst ([\w$]+)=\{title:"History",/.exec(js) ?? [];
  if (history === undefined) return js;
  return js.replace(
    /plugins:\[([\w$]+)\](?=,schemaDescription:)/,
    (_text, explorer: string) => `plugins:[${explorer},${history}]`,
  );
}

async function readPage(): Promise<File[]> {
  const names = (await readdir(PAGE_FOLDER)).filter((name) => TYPES.has(extensionOf(name)));
  return Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(PAGE_FOLDER, name)) })),
  );
}

/** Files of one folder, whose path contains a hash of their content, so that they are cached for good. */
async function published(files: readonly File[]): Promise<Map<string, StaticFile>> {
  const content = Buffer.concat(files.map(({ bytes }) => bytes));
  const folder = `/graphiql/${hash('sha256', content, 'hex').slice(0, 16)}`;
  const entries = files.map(async ({ name, bytes }): Promise<[string, StaticFile]> => {
    const type = `${TYPES.get(extensionOf(name))}; charset=utf-8`;
    return [`${folder}/${name}`, await packFile(type, bytes)];
  });
  return new Map(await Promise.all(entries));
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
