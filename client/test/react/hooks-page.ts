import type { Page } from 'playwright-core';
import { eventually } from '../../../test/support/eventually.ts';
import { type ExampleApp, startExampleApp } from '../support/example-app.ts';
import type { TestPage } from './page/main.ts';

/** A page with nothing but the hooks, in React's development build, which mounts each component twice. */
export interface HooksPage {
  readonly page: Page;
  readonly errors: readonly string[];
  /** Texts of the frames that were sent, oldest first. */
  readonly sent: readonly string[];
  /** WebSockets that are open. */
  readonly open: number;
  /** HTTP requests with an operation of this name. */
  requests(operation: string): number;
  /** Calls a method of the page. */
  call<Name extends Methods>(
    name: Name,
    ...args: Parameters<TestPage[Name]>
  ): Promise<Awaited<ReturnType<TestPage[Name]>>>;
  signIn(email: string | null): Promise<void>;
  /** The value that the first component of the kind shows, once it is as the test wants it. */
  shows<T>(kind: string, wanted: (value: T) => boolean): Promise<T>;
}

export type Methods = Exclude<keyof TestPage, 'token'>;

export function startHooksApp(executablePath: string): Promise<ExampleApp> {
  return startExampleApp({
    folder: 'client/test/react/page',
    executablePath,
    environment: { POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '1000000' },
    nodeEnvironment: 'development',
  });
}

export async function openHooksPage(app: ExampleApp): Promise<HooksPage> {
  const { page, errors } = await app.open();
  const sent: string[] = [];
  const bodies: string[] = [];
  let open = 0;
  page.on('websocket', (socket) => {
    open += 1;
    socket.on('framesent', ({ payload }) => sent.push(String(payload)));
    socket.on('close', () => {
      open -= 1;
    });
  });
  page.on('request', (request) => bodies.push(request.postData() ?? ''));
  await page.waitForFunction(() => 'testPage' in window);
  const hooks: HooksPage = {
    page,
    errors,
    sent,
    get open() {
      return open;
    },
    requests: (operation) => bodies.filter((body) => body.includes(operation)).length,
    call: async (name, ...args) =>
      (await page.evaluate(
        ([method, given]) => {
          const { testPage } = window as unknown as { testPage: TestPage };
          return (testPage[method] as (...all: unknown[]) => unknown)(...given);
        },
        [name, args] as const,
      )) as never,
    async signIn(email) {
      const token = email === null ? null : app.facade.sandbox.token({ email });
      await page.evaluate((given) => {
        (window as unknown as { testPage: TestPage }).testPage.token = given;
      }, token);
    },
    shows: <T>(kind: string, wanted: (value: T) => boolean) =>
      eventually(async () => {
        const text = await page.locator(`output.${kind}`).first().textContent({ timeout: 5_000 });
        const value = JSON.parse(text ?? 'null') as T;
        if (!wanted(value)) throw new Error(`shows ${text}`);
        return value;
      }),
  };
  await hooks.signIn('demo@example.com');
  return hooks;
}
