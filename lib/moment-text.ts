const FIRST_YEAR = 1970;
const END_YEAR = 2200;
const DAY_MS = 86_400_000;

const FIRST_MS = Date.UTC(FIRST_YEAR);
const END_MS = Date.UTC(END_YEAR);

/** A buffer that every call overwrites. */
const letters = Buffer.from('0000-00-00T00:00:00.000Z', 'latin1');

/**
 * Formats milliseconds since the epoch like `toISOString`, in a fifth of its time: for a list with
 * fifty moments that method takes as long as parsing the list. It writes bytes into a buffer
 * because a concatenated string makes JSON.stringify leave its fast path.
 */
export function momentText(ms: number): string {
  if (!(ms >= FIRST_MS && ms < END_MS)) return new Date(ms).toISOString();
  const day = (ms / DAY_MS) | 0;
  writeDate(day);
  writeTime((ms - day * DAY_MS) | 0);
  return letters.toString('latin1');
}

const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Milliseconds since the epoch; null where the text is no moment of ISO 8601 with its offset. `Date.parse` alone takes
 * 30 February for 2 March.
 */
export function parseMoment(text: string): number | null {
  const [, local] = MOMENT.exec(text) ?? [];
  const ms = Date.parse(text);
  if (local === undefined || Number.isNaN(ms)) return null;
  return new Date(`${local}Z`).toISOString().startsWith(local) ? ms : null;
}

// Years begin on 1 March here, so that a leap day is the last of its year, and eras with the year 0.
const ERA_YEARS = 400;
const ERA_DAYS = 146_097;
const FROM_YEAR_0_TO_1970 = 719_468;

/** This follows "civil_from_days" of Howard Hinnant's chrono-compatible date algorithms. */
function writeDate(dayOf1970: number): void {
  const day = dayOf1970 + FROM_YEAR_0_TO_1970;
  const era = (day / ERA_DAYS) | 0;
  const ofEra = day - era * ERA_DAYS;
  const leapDays = ((ofEra / 1_460) | 0) - ((ofEra / 36_524) | 0) + ((ofEra / 146_096) | 0);
  const yearOfEra = ((ofEra - leapDays) / 365) | 0;
  const ofYear = ofEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const fromMarch = ((5 * ofYear + 2) / 153) | 0;
  const isNextYear = fromMarch >= 10;
  const year = era * ERA_YEARS + yearOfEra + (isNextYear ? 1 : 0);
  const century = (year / 100) | 0;
  writeTwo(0, century);
  writeTwo(2, year - century * 100);
  writeTwo(5, isNextYear ? fromMarch - 9 : fromMarch + 3);
  writeTwo(8, ofYear - (((153 * fromMarch + 2) / 5) | 0) + 1);
}

function writeTime(ofDayMs: number): void {
  const ofDaySeconds = (ofDayMs / 1_000) | 0;
  const ofDayMinutes = (ofDaySeconds / 60) | 0;
  const hours = (ofDayMinutes / 60) | 0;
  const ms = ofDayMs - ofDaySeconds * 1_000;
  const hundreds = (ms / 100) | 0;
  writeTwo(11, hours);
  writeTwo(14, ofDayMinutes - hours * 60);
  writeTwo(17, ofDaySeconds - ofDayMinutes * 60);
  letters[20] = ZERO + hundreds;
  writeTwo(21, ms - hundreds * 100);
}

const ZERO = 48;

function writeTwo(at: number, value: number): void {
  const tens = (value / 10) | 0;
  letters[at] = ZERO + tens;
  letters[at + 1] = ZERO + value - tens * 10;
}
