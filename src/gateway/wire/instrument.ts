import { z } from 'zod';
import type { Instrument } from '../model.ts';

const texts = z.array(z.string()).readonly();

const tradingHours = z.object({
  timezone: z.string(),
  regular: texts,
  preMarket: texts,
  postMarket: texts,
  overnight: texts,
  otherExtended: texts,
});

const swap = z.object({ long: z.number(), short: z.number(), mode: z.number(), tick: z.number() });

/** The interface's table, strictly: an instrument that breaks it is left out of the catalog. */
export const wireInstrument = z.object({
  _id: z.string().min(1),
  logo: z.string(),
  friendlyName: z.string(),
  delayed: z.boolean(),
  desc: z.string(),
  sharia: z.boolean(),
  shariaStatus: z.enum(['QUESTIONABLE', 'COMPLIANT', 'NONCOMPLIANT']),
  leverage: z.number(),
  pdt: z.boolean(),
  // A number in the interface, a count of decimals by its meaning; the schema serves it as Int.
  digits: z.int32(),
  session: texts,
  quotes: texts,
  tradingHours: tradingHours.optional(),
  sector: z.number(),
  industry: z.number(),
  mode: z.number(),
  calc: z.number(),
  swap: swap.optional(),
  min: z.number(),
  max: z.number(),
  step: z.number(),
  limit: z.number(),
  mCurrency: z.string(),
  pCurrency: z.string(),
  mFx: z.string().optional(),
  pFx: z.string().optional(),
  access: texts,
});

export type WireInstrument = z.infer<typeof wireInstrument>;

/** Null where the row breaks the interface's table. */
export function toInstrument(row: unknown): Instrument | null {
  const checked = wireInstrument.safeParse(row);
  if (!checked.success) return null;
  const { _id, friendlyName, desc, tradingHours, swap, mFx, pFx, ...same } = checked.data;
  return {
    id: _id,
    symbol: _id,
    name: friendlyName,
    description: desc,
    ...same,
    tradingHours: tradingHours ?? null,
    swap: swap ?? null,
    mFx: mFx ?? null,
    pFx: pFx ?? null,
  };
}
