// Published values of a rate with their days, and a chip if one is old.

import { formats, pageTexts, texts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { oldLegAge, routeParts } from '../../model/pasted/route.ts'
import type { ConversionLeg } from '../../model/rates/support.ts'

export function RouteText({ legs, day }: { legs: readonly ConversionLeg[]; day: string }) {
  const age = oldLegAge(legs, day)
  return (
    <>
      {routeParts(legs, day, formats.value, texts.value.sides).map((part, index) => (
        <span key={part.name} class="route-part">
          {index > 0 && ' '}
          {part.sign}
          {part.name} <strong>{part.value}</strong> ({part.day})
        </span>
      ))}
      {age !== undefined && (
        <>
          {' '}
          <span class="chip old">{pageTexts(LISTS).list.old(String(age))}</span>
        </>
      )}
    </>
  )
}
