const DAY_MS = 86_400_000;
const END_MS = Date.UTC(2200);
const MAX_DATES = 4_096;
const DATE_LETTERS = 10;

/** A buffer that every call overwrites. */
const letters = Buffer.from('0000-00-00T00:00:00.000Z', 'latin1');
/** Caches date texts by days since 1970. */
const dates = new Map<number, Buffer>();

/** Formats like `toISOString`, in a fifth of its time. Writes bytes: concatenated strings would slow JSON.stringify down. */
export function momentText(ms: number): string {
  const isUsual = ms >= 0 && ms < END_MS;
  if (!isUsual) return new Date(ms).toISOString();
  // Here and below `| 0` drops a fraction.
  const day = (ms / DAY_MS) | 0;
  letters.set(dates.get(day) ?? addDate(day));
  writeTime((ms - day * DAY_MS) | 0);
  return letters.toString('latin1');
}

const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch; null if the text is not a valid moment of ISO 8601 with its offset, such as 30 February. */
export function parseMoment(text: string): number | null {
  const [, local] = MOMENT.exec(text) ?? [];
  const ms = Date.parse(text);
  if (local === undefined || Number.isNaN(ms)) return null;
  // `Date` accepts 30 February as a day in March, whose text differs.
  return new Date(`${local}Z`).toISOString().startsWith(local) ? ms : null;
}

function addDate(day: number): Buffer {
  if (dates.size >= MAX_DATES) dates.clear();
  const date = Buffer.from(new Date(day * DAY_MS).toISOString().slice(0, DATE_LETTERS), 'latin1');
  dates.set(day, date);
  return date;
}

/** Writes each number to its position in `letters`. */
function writeTime(msOfDay: number): void {
  const secondsOfDay = (msOfDay / 1_000) | 0;
  const minutesOfDay = (secondsOfDay / 60) | 0;
  const hours = (minutesOfDay / 60) | 0;
  const ms = msOfDay - secondsOfDay * 1_000;
  const hundreds = (ms / 100) | 0;
  writeTwo(11, hours);
  writeTwo(14, minutesOfDay - hours * 60);
  writeTwo(17, secondsOfDay - minutesOfDay * 60);
  letters[20] = ZERO + hundreds;
  writeTwo(21, ms - hundreds * 100);
}

/** The character code of the digit 0. */
const ZERO = 48;

function writeTwo(position: number, value: number): void {
  const tens = (value / 10) | 0;
  letters[position] = ZERO + tens;
  letters[position + 1] = ZERO + value - tens * 10;
}
