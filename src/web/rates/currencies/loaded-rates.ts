// Loads the rows of the table of currencies with one batch of conversions.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { apiRequest, type Failure } from '../../api/request.ts'
import { isTransient, refreshCount } from '../../components/use-api.ts'
import {
  type CurrencyRow,
  currencyRows,
  type UnitRate,
  unitConversions,
} from '../../model/rates/currency-rows.ts'

const RETRY_MS = 8000

export type LoadedRates = {
  /** Day of the rows, which is the former one while another day loads. */
  day: string
  rows: readonly CurrencyRow[] | undefined
  failure: Failure | undefined
  isLoading: boolean
}

type BatchState = {
  codes: readonly string[]
  day: string
  answers?: readonly UnitRate[]
  failure?: Failure
}

/**
 * @param codes the same array while the currencies do not change
 * @param day undefined: it was refused, and nothing is requested
 */
export function useCurrencyRates(codes: readonly string[], day: string | undefined): LoadedRates {
  const [state, setState] = useState<BatchState>({ codes, day: '' })
  const [attempt, setAttempt] = useState(0)
  const refresh = refreshCount.value
  useEffect(() => {
    if (codes.length === 0 || day === undefined) return
    const request = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const body = unitConversions(codes, day)
    const { signal } = request
    apiRequest<UnitRate[]>('/api/v1/convert/batch', { method: 'POST', body, signal }).then(
      ({ value, failure }) => {
        if (signal.aborted) return
        if (value) setState({ codes, day, answers: value })
        else if (failure) setState((old) => (old.day === day ? { ...old, failure } : { codes, day, failure }))
        if (failure && isTransient(failure))
          timer = setTimeout(() => setAttempt((count) => count + 1), RETRY_MS)
      },
    )
    return () => {
      request.abort()
      clearTimeout(timer)
    }
  }, [codes, day, attempt, refresh])
  const { answers } = state
  const rows = useMemo(() => answers && currencyRows(state.codes, answers), [state.codes, answers])
  return { day: state.day, rows, failure: state.failure, isLoading: day !== undefined && state.day !== day }
}
