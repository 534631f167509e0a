import { isOffline } from '../api/connection.ts'
import { icons } from './icons.tsx'
import { oldestArrival } from './use-api.ts'
import { formats, texts } from './view.ts'

/** Warns on every screen that the server is gone, and since when the values are known. */
export function LostBanner() {
  const words = texts.value.failures
  if (!isOffline.value) return null
  const arrival = oldestArrival()
  return (
    <p class="line banner lost" role="status">
      {icons.offline}
      <span>
        <strong>{words.lost}</strong> {arrival !== undefined && words.lastShown(formats.value.time(arrival))}{' '}
        {words.again}
      </span>
    </p>
  )
}
