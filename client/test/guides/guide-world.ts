import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startTestApp } from '../../../test/support/app.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import type { SampleProject } from '../support/sample-project.ts';

const OWN_DOCUMENTS = join(import.meta.dirname, '..', '..', 'trusted-documents.json');

export interface Row {
  readonly id: string;
  readonly symbol: string;
}

export interface Home {
  readonly positions: readonly Row[] | null;
}

/** Takes the place of a page's `src/session.ts`, so that a test decides what the token is. */
export const TEST_SESSION = `
interface Given { freshToken(options: { force: boolean }): string | null; signedOut(): void }
declare global { var session: Given; var graphqlUrl: string }
export const freshToken = (options: { force: boolean }) => globalThis.session.freshToken(options);
export const signedOut = () => globalThis.session.signedOut();
export const keepToken = (_given: string | null, _again?: unknown) => {};
`;

export type GuideWorld = Awaited<ReturnType<typeof startGuideWorld>>;

/** A facade, a line to it that can be cut, and the globals by which the code of a page finds both and its token. */
export async function startGuideWorld(
  settings: Readonly<Record<string, string>> = {},
  options: Parameters<typeof startTestApp>[1] = {},
) {
  const app = await startTestApp({ POSITIONS_POLL_MS: '100', ...settings }, options);
  const proxy = await startCutProxy(app.url);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  Object.assign(globalThis, {
    graphqlUrl: `${proxy.url}/graphql`,
    session: { freshToken: () => token, signedOut() {} },
  });
  return {
    app,
    proxy,
    token,
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await app.close();
    },
  };
}

/** The settings of a facade that answers nothing but the documents of a manifest, and of the client itself. */
export function trustedAlone({ folder }: SampleProject, manifest: string): Record<string, string> {
  const manifests = join(folder, 'manifests');
  mkdirSync(manifests);
  copyFileSync(join(folder, manifest), join(manifests, 'app.json'));
  copyFileSync(OWN_DOCUMENTS, join(manifests, 'client.json'));
  return { PERSISTED_DOCUMENTS: manifests, PERSISTED_DOCUMENTS_ONLY: 'on' };
}
