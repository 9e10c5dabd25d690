import { expect } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { type ExampleApp, exampleApp } from '../support/example-app.ts';
import type { TestPage } from './page/main.ts';
import type { View } from './page/view.ts';

declare global {
  interface Window {
    testPage: TestPage;
  }
}

type Methods = Exclude<keyof TestPage, 'token'>;
export type HooksPage = Awaited<ReturnType<typeof openHooksPage>>;

export interface Form {
  readonly status: string;
  readonly progress: string | null;
  readonly outcome: {
    readonly status: string;
    readonly idempotencyKey: string;
  } | null;
}

export const hooksApp = (executablePath: string): ExampleApp =>
  exampleApp({ folder: 'client/test/react/page', executablePath, nodeEnvironment: 'development' });

/** A page with nothing but the hooks, in React's development build, which mounts each component twice. */
export async function openHooksPage(app: ExampleApp, view: View | null = null) {
  const page = await app.open();
  const sent: string[] = [];
  let open = 0;
  page.on('websocket', (socket) => {
    open += 1;
    socket.on('framesent', ({ payload }) => sent.push(String(payload)));
    socket.on('close', () => {
      open -= 1;
    });
  });
  await page.waitForFunction(() => 'testPage' in window);
  const hooks = {
    page,
    /** Texts of the frames that were sent, oldest first. */
    sent: sent as readonly string[],
    /** WebSockets that are open. */
    get open() {
      return open;
    },
    call: async <Name extends Methods>(name: Name, ...args: Parameters<TestPage[Name]>) =>
      (await page.evaluate(
        ([method, given]) => {
          return (window.testPage[method] as (...all: unknown[]) => unknown)(...given);
        },
        [name, args] as const,
      )) as Awaited<ReturnType<TestPage[Name]>>,
    async signIn(email: string) {
      const token = app.facade.sandbox.token({ email });
      await page.evaluate((given) => {
        window.testPage.token = given;
      }, token);
    },
    /** Waits until the first component of this kind shows the wanted value, and returns it. */
    shows: <T>(kind: string, wanted: ((value: T) => boolean) | Partial<T>) =>
      eventually(async () => {
        const text = await page.locator(`output.${kind}`).first().textContent({ timeout: 5_000 });
        const value = JSON.parse(text ?? 'null') as T;
        if (typeof wanted !== 'function') expect(value).toMatchObject(wanted as object);
        else if (!wanted(value)) throw new Error(`shows ${text}`);
        return value;
      }),
  };
  await hooks.signIn('demo@example.com');
  await hooks.call('show', view);
  return hooks;
}

/** Waits until the form of an order shows this status. */
export const showsForm = (hooks: HooksPage, wanted: string) =>
  hooks.shows<Form>('ticket', { status: wanted });
