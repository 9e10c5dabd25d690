/** Shortens a line of the JSON log for the console: `08:14:02 warn  message name=value`. */
export function compactLine(json: string): string {
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
