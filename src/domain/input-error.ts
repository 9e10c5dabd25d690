/** What a client asked for is outside what is allowed; `argument` is the path of the culprit. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly argument: string;

  constructor(argument: string, message: string) {
    super(message);
    this.argument = argument;
  }
}
