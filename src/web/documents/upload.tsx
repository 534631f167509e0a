// Where files are dropped: for which company, agent and owner, and how far each file is.

import { useId, useRef, useState } from 'preact/hooks'
import { icons } from '../parts/icons.tsx'
import { wordsOf } from '../parts/notice.tsx'
import { view } from '../parts/view.ts'
import type { Named } from '../server/documents.ts'
import { session } from '../server/session.ts'
import type { Directory } from './directory.ts'
import { useSending } from './sending.ts'
import { SendingList } from './sending-list.tsx'
import { documentsTexts } from './texts.ts'

export function Upload({ directory }: { directory: Directory }) {
  const words = documentsTexts.value.upload
  const current = session.value
  const mayPost = current.state === 'in' && current.token?.allow.includes('documents:POST')
  return (
    <section class="card upload" aria-labelledby="upload">
      <div class="card-head">
        <h2 id="upload">{words.title}</h2>
      </div>
      {mayPost ? <DropZone directory={directory} /> : <p class="quiet">{words.forbidden}</p>}
    </section>
  )
}

function DropZone({ directory }: { directory: Directory }) {
  const words = documentsTexts.value.upload
  const [chosen, choose] = useState({ agent: 0, owner: 0 })
  const [isOver, setOver] = useState(false)
  const [hasFolder, setFolder] = useState(false)
  const { sent, add, ...tools } = useSending()
  const input = useRef<HTMLInputElement>(null)
  const { company, owners, isLoaded, failure } = directory
  const agents = directory.agents.filter(({ active }) => active)
  const agent = oneOf(agents, chosen.agent || view.value.agent)
  const owner = oneOf(owners, chosen.owner)
  const isReady = company > 0 && agent > 0 && owner > 0
  const take = (files: readonly File[]) => {
    if (isReady) add(files, { company, agent, owner })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry())
    setFolder(entries.some((entry) => entry?.isDirectory))
    const files = [...(event.dataTransfer?.files ?? [])]
    take(files.filter((_, index) => !entries[index]?.isDirectory))
  }
  return (
    <>
      <div class="upload-to">
        <Choice
          label={documentsTexts.value.documents.agent}
          value={agent}
          all={agents}
          onChoose={(id) => choose({ ...chosen, agent: id })}
        />
        <Choice
          label={documentsTexts.value.documents.owner}
          value={owner}
          all={owners}
          onChoose={(id) => choose({ ...chosen, owner: id })}
        />
      </div>
      {isLoaded && company > 0 && agents.length === 0 && <p class="caution">{words.noAgents}</p>}
      <fieldset
        class={isOver && isReady ? 'drop over' : 'drop'}
        aria-label={words.title}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        {icons.upload}
        <p class="drop-title">{words.drop}</p>
        <button type="button" class="button" disabled={!isReady} onClick={() => input.current?.click()}>
          {words.choose}
        </button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            take([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        {!isReady && (isLoaded || failure) && (
          <p class="hint">{failure ? wordsOf(failure).title : words.pick}</p>
        )}
      </fieldset>
      {hasFolder && <p class="refusal">{words.folder}</p>}
      <SendingList sent={sent} {...tools} />
    </>
  )
}

function Choice(props: {
  label: string
  value: number
  all: readonly Named[]
  onChoose: (id: number) => void
}) {
  const id = useId()
  return (
    <div>
      <label for={id}>{props.label}</label>
      <select
        id={id}
        class="field"
        value={props.value}
        disabled={props.all.length === 0}
        onChange={(event) => props.onChoose(Number(event.currentTarget.value))}
      >
        {props.value === 0 && <option value={0}>—</option>}
        {props.all.map(({ id: one, name }) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

/** What was chosen, or the only one there is: between several nothing is guessed. */
function oneOf(all: readonly Named[], chosen: number): number {
  if (all.some(({ id }) => id === chosen)) return chosen
  return all.length === 1 ? (all[0]?.id ?? 0) : 0
}
