import {
  type Answer,
  type Asked,
  TRANSPORTS as NAMES,
  type Server,
  send,
} from '../../support/four-transports.ts';

export type { Asked };
export type Ask = (app: Server, asked: Asked, token?: string) => Promise<Answer>;

/** Every transport of the graph. */
export const TRANSPORTS = NAMES.map((name): readonly [string, Ask] => [
  name,
  async (app, asked, token) => (await send(app, name, asked, { token })).answer,
]);

export function codesOf({ errors = [] }: Answer): string[] {
  return errors.map(({ extensions }) => extensions.code);
}
