const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const TIME = /(\b(?:for|group_wait|group_interval|repeat_interval): |\[)(\d+)([smhd])/g;

/** Rules or routes with every time and every window of an expression shorter; all else stays as it is. */
export function dividedTimes(text: string, by: number): string {
  return text.replace(TIME, (_whole, before, count, unit) => {
    const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
    return `${before}${Math.round((seconds * 1_000) / by)}ms`;
  });
}
