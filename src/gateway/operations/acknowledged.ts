import * as f from '../fields.ts';

/** The answer of every small write. */
export const ACKNOWLEDGED = f.table('Acknowledged', { success: f.vital(f.flag) });
