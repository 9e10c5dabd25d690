import pino from 'pino';
import { redactTokens } from './redact.ts';
import { redactRecord } from './redact-record.ts';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface Log extends Pick<pino.Logger, Level | 'isLevelEnabled'> {
  child(bindings: Record<string, unknown>): Log;
  /**
   * Logs at level `info` what is JSON already: the members of an object, without its braces. It is
   * written as it is, so it must not be able to hold a secret. For a line of each request: the lines
   * of one turn of the event loop are written together.
   */
  line(members: string, message: string): void;
}

export interface LogOptions {
  readonly level: pino.LevelWithSilent;
  /** `json`: one object per line, for machines. `compact`: one short line, for a console. */
  readonly format: 'json' | 'compact';
  /** Default: stdout. */
  readonly destination?: Destination;
}

/**
 * A log that redacts secrets at any depth, in records, texts, errors and child loggers, so that no
 * caller has to.
 */
export function createLog({ level, format, destination }: LogOptions): Log {
  const output = new LineBuffer(destination ?? standardOutput(), format);
  if (destination === undefined) process.once('exit', () => output.flush());
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
      },
      // The hook below has already turned errors into plain records.
      serializers: { err: (error: unknown) => error },
      hooks: {
        // Runs only for enabled levels, and sees the arguments of a format text too.
        logMethod(args, method) {
          output.flush();
          Reflect.apply(method, this, redactArguments(args));
        },
      },
    },
    output,
  );
  const { child } = log;
  // Bindings are serialized once without the hook; child loggers inherit this from their parent.
  return Object.assign(log, {
    child(this: pino.Logger, bindings: Record<string, unknown>): Log {
      return Reflect.apply(child, this, [redactRecord(bindings)]) as pino.Logger & Log;
    },
    line(this: pino.Logger, members: string, message: string): void {
      if (this.isLevelEnabled('info')) output.add(members, message);
    },
  });
}

function standardOutput(): Destination {
  return pino.destination({ dest: 1, sync: true });
}

interface Destination {
  write(line: string): void;
}

/** Collects the lines of one turn of the event loop, because each write is a system call. */
class LineBuffer implements Destination {
  readonly #destination: Destination;
  readonly #format: LogOptions['format'];
  #lines = '';

  constructor(destination: Destination, format: LogOptions['format']) {
    this.#destination = destination;
    this.#format = format;
  }

  write(line: string): void {
    this.#destination.write(this.#format === 'json' ? line : compactLine(line));
  }

  add(members: string, message: string): void {
    const time = new Date().toISOString();
    const json = `{"level":"info","time":"${time}",${members},"msg":${JSON.stringify(message)}}`;
    if (this.#lines === '') setImmediate(this.#flushLater);
    this.#lines += this.#format === 'json' ? `${json}\n` : compactLine(json);
  }

  readonly #flushLater = (): void => this.flush();

  flush(): void {
    if (this.#lines === '') return;
    const lines = this.#lines;
    this.#lines = '';
    this.#destination.write(lines);
  }
}

function redactArguments([first, ...rest]: readonly unknown[]): unknown[] {
  const others = rest.map(redactArgument);
  if (!(first instanceof Error)) return [redactArgument(first), ...others];
  const { err } = redactRecord({ err: first }) as { err: { message: string } };
  return [{ err }, ...(others.length > 0 ? others : [err.message])];
}

function redactArgument(argument: unknown): unknown {
  if (typeof argument === 'string') return redactTokens(argument);
  return typeof argument === 'object' && argument !== null
    ? redactRecord({ argument }).argument
    : argument;
}

/** Shortens a line of the JSON log for the console: `08:14:02 warn  message name=value`. */
function compactLine(json: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const clock = typeof time === 'string' ? time.slice(11, 19) : '';
  const words = [clock, String(level).padEnd(5), ...(msg === undefined ? [] : [String(msg)])];
  for (const [name, value] of Object.entries(rest)) {
    words.push(
      `${name}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`,
    );
  }
  const stack = isRecord(err) ? `\n${String(err.stack ?? err.message)}` : '';
  return `${words.join(' ')}${stack}\n`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
