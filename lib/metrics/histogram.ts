interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** One time series of a histogram, which counts by itself: prom-client looks it up by a text of its labels each time. */
export function createDistribution(buckets: readonly number[]) {
  // The last is of what exceeds every bound.
  const counts = [...buckets.map(() => 0), 0];
  let sum = 0;
  return {
    observe(value: number): void {
      let at = 0;
      while (at < buckets.length && value > (buckets[at] as number)) at += 1;
      counts[at] = (counts[at] as number) + 1;
      sum += value;
    },
    /** In the order of the text format; the buckets are cumulative. */
    samples(name: string, labels: Readonly<Record<string, string>>): Sample[] {
      let count = 0;
      const ofBuckets = counts.map((ofOne, at) => {
        count += ofOne;
        const le = buckets[at] ?? '+Inf';
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...ofBuckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    },
  };
}
