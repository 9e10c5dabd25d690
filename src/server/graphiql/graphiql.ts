import { onFirstUse } from '../../lib/on-first-use.ts';
import type { Reply } from '../http/reply.ts';
import { sendFile, sendPage } from '../http/static-file.ts';
import { loadAssets, loadDocumentation } from './assets.ts';
import { type SandboxUser, shell } from './shell.ts';

export interface GraphiQLOptions {
  /** The sandbox's users and the sign-in of the first, so that the first query works; null without the sandbox. */
  readonly sandbox: {
    readonly users: readonly SandboxUser[];
    readonly firstToken: () => Promise<string | null>;
  } | null;
  /** Off: the page says what is missing and why, in place of an error. */
  readonly introspection: boolean;
}

/** GraphiQL with every asset served from this process, so that it works offline. */
export class GraphiQL {
  readonly #options: GraphiQLOptions;
  /** Most servers never need them. */
  readonly #loadAssets = onFirstUse(loadAssets);
  readonly #loadDocumentation = onFirstUse(loadDocumentation);

  constructor(options: GraphiQLOptions) {
    this.#options = options;
  }

  async page(reply: Reply): Promise<void> {
    const { sandbox, introspection } = this.#options;
    const users = sandbox?.users ?? null;
    const assets = await this.#loadAssets();
    const docs = await this.#loadDocumentation();
    // The page is served even where the sign-in fails, to debug just that.
    const token = (await sandbox?.firstToken().catch(() => null)) ?? null;
    // The page may contain a token of the demo user.
    reply.set('cache-control', 'no-store');
    await sendPage(reply, shell({ assets, users, token, docs, introspection }), {
      // GraphiQL sizes its panes by attributes.
      style: "'self' 'unsafe-inline'",
      images: "'self' data:",
    });
  }

  async asset(reply: Reply, path: string): Promise<boolean> {
    const document = (await this.#loadDocumentation()).find((each) => each.path === path);
    if (document) {
      reply.set('content-type', 'text/plain; charset=utf-8');
      await reply.send(200, document.text);
      return true;
    }
    const { graphiql, page } = await this.#loadAssets();
    const asset = graphiql.get(path) ?? page.get(path);
    if (!asset) return false;
    sendFile(reply, asset);
    return true;
  }
}
