// Schema of a reason for degraded rates, as a code.

import * as v from 'valibot'
import { Day, Integer, RateTypeOut, titledObject, withDescription } from '../endpoint/answers/shapes.ts'

export const ReasonOut = titledObject('Reason', {
  code: v.picklist(['stale_side', 'no_value', 'history_loading', 'last_run_failed', 'damaged']),
  provider: v.string(),
  rate_type: v.optional(RateTypeOut),
  since: withDescription(
    v.optional(Day),
    'With stale_side: the first day without a value; with damaged: the first damaged one',
  ),
  series_id: withDescription(v.optional(Integer), 'With damaged: the series'),
  percent: withDescription(
    v.optional(Integer),
    'With history_loading: the share of the days that are stored',
  ),
})
