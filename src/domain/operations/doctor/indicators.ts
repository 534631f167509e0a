// Reports indicators that the source refuses, that wait for the token, or that have no new value.

import { plainName } from '../../../providers/plain-name.ts'
import type { IndicatorSource } from '../../../providers/provider.ts'
import { selectIndicatorRuns } from '../../../store/indicators/runs.ts'
import {
  ABANDONED_DAYS,
  selectIndicatorStates,
  staleIndicators,
} from '../../indicators/indicator-freshness.ts'
import { type CheckContext, runText } from './examination.ts'

export async function examineIndicators({
  db,
  clock,
  allProviders,
  report,
}: Pick<CheckContext, 'db' | 'clock' | 'allProviders' | 'report'>): Promise<void> {
  const states = await selectIndicatorStates(db, clock)
  if (states.length === 0) return
  const waiting = states.filter(({ state }) => state === 'waiting').length
  const words = waiting > 0 ? `, ${waiting} wait for the token of the bank` : ''
  report.note(`${states.length} indicators are enabled${words}`)
  const last = (await selectIndicatorRuns(db, 2)).find((run) => run.finished_at !== null) // the newest may be open
  if (last) report.note(`last run of indicators: ${runText(last)}`)
  for (const { code, name, state, refusal } of states) {
    if (state === 'refused')
      report.finding('indicators', `the bank refuses ${code} (${name ?? 'no name'}): ${refusal}`)
  }
  const source = await allProviders.find(({ indicators }) => indicators !== undefined)?.indicators?.()
  for (const { code, name } of states) {
    const listedName = source && name !== null ? otherListedName(source, code, name) : undefined
    if (listedName !== undefined) {
      const words = `the bank calls it "${name}", the list "${listedName}"`
      report.note(`indicator ${code}: ${words}: its code may have been given anew`)
    }
  }
  const abandoned = states.filter(({ age_days: age }) => age !== null && age >= ABANDONED_DAYS)
  const old = states.filter((one) => !abandoned.includes(one))
  for (const text of staleIndicators(old)) report.note(`indicator ${text}`)
  for (const { code, newest_date } of abandoned) {
    report.note(`indicator ${code} has no value since ${newest_date}: cambista indicator disable ${code}`)
  }
}

/** Returns the shipped name of an indicator if the stored one is another, accents and case apart. */
function otherListedName(source: IndicatorSource, code: string, name: string): string | undefined {
  const listedName = source.listed().find((one) => one.code === code)?.name
  if (listedName === undefined) return undefined
  const names = [listedName, source.catalogueNames().get(code) ?? listedName].map(plainName)
  return names.includes(plainName(name)) ? undefined : listedName
}
