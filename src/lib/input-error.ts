/** A client's input is outside what is allowed; `argument` is the path of the offending value. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly argument: string;

  constructor(argument: string, message: string) {
    super(message);
    this.argument = argument;
  }
}
