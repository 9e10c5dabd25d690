import { hash } from 'node:crypto';
import { pack } from '../../lib/pack.ts';
import type { Reply } from '../http/reply.ts';
import { EXAMPLES } from './examples.ts';

export interface GraphiQLOptions {
  /** Signs the demo user in, so that the first query works; null without the sandbox. */
  readonly demoToken: (() => Promise<string | null>) | null;
}

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly br: Buffer;
}

/** GraphiQL with every asset served from this process, so that it works offline. */
export class GraphiQL {
  readonly #options: GraphiQLOptions;
  #assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  constructor(options: GraphiQLOptions) {
    this.#options = options;
  }

  async page(reply: Reply): Promise<void> {
    const assets = await this.#load();
    const urls = [...assets.keys()];
    const token = await this.#demoToken();
    const headers = token
      ? JSON.stringify({ authorization: `Bearer ${token}` }, null, 2)
      : undefined;
    const options = {
      title: 'Trading Graph',
      endpoint: '/graphql',
      defaultTabs: EXAMPLES.map((query) => ({ query, headers })),
      ...(headers && { headers }),
      shouldPersistHeaders: false,
      subscriptionsProtocol: 'SSE',
    };
    reply.set('content-type', 'text/html; charset=utf-8');
    // The page may contain a token of the demo user.
    reply.set('cache-control', 'no-store');
    reply.set('x-frame-options', 'DENY');
    reply.set('referrer-policy', 'no-referrer');
    await reply.send(200, shell(urls, options));
  }

  /** The page is served even where the sign-in fails, to debug just that. */
  async #demoToken(): Promise<string | null> {
    try {
      return (await this.#options.demoToken?.()) ?? null;
    } catch {
      return null;
    }
  }

  async asset(reply: Reply, path: string): Promise<boolean> {
    const asset = (await this.#load()).get(path);
    if (!asset) return false;
    reply.set('content-type', asset.type);
    // The path contains a hash of the content, so the asset can be cached for good.
    reply.set('cache-control', 'public, max-age=31536000, immutable');
    reply.set('vary', 'accept-encoding');
    const encoding = reply.encodingFor(asset.bytes.length);
    if (encoding === null) await reply.send(200, asset.bytes);
    else reply.sendPacked(200, asset[encoding], encoding);
    return true;
  }

  /** Loaded on first use: most servers never need these nine megabytes. */
  #load(): Promise<ReadonlyMap<string, Asset>> {
    this.#assets ??= loadAssets();
    return this.#assets;
  }
}

async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const { css, js, editorWorkerService, graphqlWorker, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const files = [
    ['graphiql.js', 'text/javascript', js],
    ['graphiql.css', 'text/css', css],
    ['editor.js', 'text/javascript', editorWorkerService],
    ['json.js', 'text/javascript', jsonWorker],
    ['graphql.js', 'text/javascript', graphqlWorker],
  ] as const;
  const entries = files.map(async ([name, type, text]): Promise<[string, Asset]> => {
    const bytes = Buffer.from(text);
    const [packed, smaller] = await Promise.all([
      pack(bytes, 'gzip', 'quick'),
      pack(bytes, 'br', 'quick'),
    ]);
    const path = `/graphiql/${hash('sha256', bytes, 'hex').slice(0, 16)}/${name}`;
    return [path, { type: `${type}; charset=utf-8`, bytes, gzip: packed, br: smaller }];
  });
  return new Map(await Promise.all(entries));
}

function shell(urls: readonly string[], options: Record<string, unknown>): string {
  const url = (name: string) => urls.find((each) => each.endsWith(`/${name}`)) ?? '';
  const workers = {
    editorWorkerService: url('editor.js'),
    json: url('json.js'),
    graphql: url('graphql.js'),
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Trading Graph</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${url('graphiql.css')}" />
  </head>
  <body class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript.</noscript>
    <div id="root" style="height: 100vh"></div>
    <script>
      const workers = ${inScript(workers)};
      self.MonacoEnvironment = {
        globalAPI: false,
        getWorkerUrl: (_module, label) => workers[label] ?? workers.editorWorkerService,
      };
    </script>
    <script src="${url('graphiql.js')}"></script>
    <script>
      const options = ${inScript(options)};
      // GraphiQL would restore its tabs without their headers, and beside an empty one: they are
      // passed in anew, with the token of this page load.
      const kept = JSON.parse(localStorage.getItem('graphiql:tabState') ?? 'null')?.tabs ?? [];
      const queries = kept.filter(({ query }) => query?.trim());
      if (queries.length > 0) {
        const { headers } = options;
        options.defaultTabs = queries.map(({ query, variables }) => ({ query, variables, headers }));
      }
      localStorage.removeItem('graphiql:tabState');
      YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), options);
    </script>
  </body>
</html>
`;
}

/** Escapes JSON inside a script element, so that it cannot close the element. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
