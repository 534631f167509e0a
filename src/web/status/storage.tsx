import { formats } from '../parts/view.ts'
import type { Status } from '../server/answers.ts'
import { Fact } from './fact.tsx'
import { statusTexts } from './texts.ts'

export function Storage({ status: { storage, version } }: { status: Status }) {
  const words = statusTexts.value
  const { bytes, count } = formats.value
  return (
    <section class="card" aria-labelledby="storage">
      <div class="card-head">
        <h2 id="storage">{words.storage}</h2>
      </div>
      <dl class="fact-list">
        <Fact name={words.rates}>{count(storage.rates)}</Fact>
        <Fact name={words.documents}>{count(storage.documents)}</Fact>
        <Fact name={words.bytes}>
          {bytes(storage.content_bytes)}{' '}
          <small>{words.inContents(storage.contents, count(storage.contents))}</small>
        </Fact>
        {storage.free_bytes !== undefined && <Fact name={words.free}>{bytes(storage.free_bytes)}</Fact>}
        <Fact name={words.version}>cambista {version}</Fact>
      </dl>
    </section>
  )
}
