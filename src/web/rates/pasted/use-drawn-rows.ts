// Number of rows that are drawn. The layout of many at once delays input, so they come by and by. Paper has all rows.

import { useEffect, useState } from 'preact/hooks'
import { isPrinting } from '../../components/output/letterhead.tsx'

const FIRST_ROWS = 200
const STEP_ROWS = 20 // in a frame

/**
 * @param subject the number begins again when it changes
 * @returns `drawn` grows to `limit`, which `more` raises
 */
export function useDrawnRows(length: number, subject: unknown) {
  const start = { subject, drawn: STEP_ROWS, most: FIRST_ROWS }
  const [state, setState] = useState(start)
  const { drawn, most } = state.subject === subject ? state : start
  const limit = isPrinting.value ? length : Math.min(length, most)
  useEffect(() => {
    if (drawn >= limit || isPrinting.value) return
    const frame = requestAnimationFrame(() => setState({ subject, drawn: drawn + STEP_ROWS, most }))
    return () => cancelAnimationFrame(frame)
  }, [subject, drawn, limit])
  return {
    drawn: isPrinting.value ? length : Math.min(drawn, limit),
    limit,
    more: () => setState({ subject, drawn, most: most + FIRST_ROWS }),
  }
}
