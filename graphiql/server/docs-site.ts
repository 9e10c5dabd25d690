import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import {
  type HttpReply,
  packFile,
  type Site,
  sendFile,
  sendNotFound,
  sendPage,
} from '../../engine/index.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';
import { type BuiltDocs, buildDocs } from './build-docs.ts';
import { hasDocs } from './docs-pages.ts';
import { withPrefix } from './with-prefix.ts';

const PROJECT_FOLDER = join(import.meta.dirname, '..', '..');
/** A checkout, or what `image/bundle.ts` has copied beside the program. */
const FOLDERS = [PROJECT_FOLDER, join(PROJECT_FOLDER, 'dist', 'docs')];

/** Makes pages as Markdown, by the files that they would be. */
type MadePages = () => ReadonlyMap<string, string>;

/** The documentation as pages, at `/docs`, made from Markdown when it is first asked for. */
export class DocsSite implements Site {
  readonly #load: () => ReturnType<typeof load>;

  readonly #publicPath: string;

  private constructor(folder: string, made: MadePages, publicPath: string) {
    this.#load = onFirstUse(() => load(folder, made));
    this.#publicPath = publicPath;
  }

  /** Null in an installation without the documentation. `made` are pages of the service's own. */
  static find(made: MadePages, publicPath = ''): DocsSite | null {
    const folder = FOLDERS.find(hasDocs);
    return folder === undefined ? null : new DocsSite(folder, made, publicPath);
  }

  route({ method, url = '' }: IncomingMessage, path: string): ReturnType<Site['route']> {
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead || (path !== '/docs' && !path.startsWith('/docs/'))) return null;
    const query = new URLSearchParams(url.split('?')[1]).get('q')?.trim();
    return (reply) => reply.whenRoom(() => this.#answer(reply, path, query));
  }

  async #answer(reply: HttpReply, path: string, query: string | undefined): Promise<void> {
    const { built, assets } = await this.#load();
    const asset = assets.get(path);
    if (asset !== undefined) return sendFile(reply, asset);
    const file = built.files.get(path);
    if (file !== undefined) {
      reply.set('content-type', 'text/plain; charset=utf-8');
      reply.set('x-content-type-options', 'nosniff');
      await reply.send(200, await readFile(file));
      return;
    }
    const html = path === '/docs' && query ? await built.search(query) : built.page(path);
    const place = path.replace(/\/$|(?:\/README)?\.md$/, '');
    if (html === null && built.paths.includes(place)) {
      reply.set('location', this.#publicPath + place);
      return reply.sendNothing(302);
    }
    if (html === null) return sendNotFound(reply);
    await sendPage(reply, withPrefix(html, this.#publicPath), { forms: "'self'" });
  }
}

async function load(folder: string, made: MadePages) {
  const built = await buildDocs(folder, { hasService: true, made: made() });
  return { built, assets: await published(built) };
}

/** The style, the scripts and the index, whose path contains a hash of their content. */
async function published({ assets }: BuiltDocs) {
  const entries = [...assets].map(
    async ([path, { type, text }]) => [path, await packFile(type, Buffer.from(text))] as const,
  );
  return new Map(await Promise.all(entries));
}
