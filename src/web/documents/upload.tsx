// Drop zone for files, with agent, owner and the progress of each upload.

import { useId, useRef, useState } from 'preact/hooks'
import type { DirectoryEntry } from '../api/documents.ts'
import { session } from '../api/session.ts'
import { icons } from '../components/icons.tsx'
import { failureText } from '../components/notice.tsx'
import { view } from '../components/view.ts'
import type { LoadedDirectory } from './directory.ts'
import { documentsTexts } from './texts.ts'
import { UploadList } from './upload-list.tsx'
import { useUploadQueue } from './upload-queue.ts'

export function Upload({ directory }: { directory: LoadedDirectory }) {
  const words = documentsTexts.value.upload
  const current = session.value
  const canUpload = current.state === 'in' && current.token?.allow.includes('documents:POST')
  return (
    <section class="card upload" aria-labelledby="upload">
      <div class="card-head">
        <h2 id="upload">{words.title}</h2>
      </div>
      {canUpload ? <DropZone directory={directory} /> : <p class="quiet">{words.forbidden}</p>}
    </section>
  )
}

function DropZone({ directory }: { directory: LoadedDirectory }) {
  const words = documentsTexts.value.upload
  const [selection, setSelection] = useState({ agent: 0, owner: 0 })
  const [isOver, setOver] = useState(false)
  const [hasFolder, setFolder] = useState(false)
  const { uploads, add, ...tools } = useUploadQueue()
  const input = useRef<HTMLInputElement>(null)
  const { company, owners, isLoaded, failure } = directory
  const agents = directory.agents.filter(({ active }) => active)
  const agent = selectedId(agents, selection.agent || view.value.agent)
  const owner = selectedId(owners, selection.owner)
  const isReady = company > 0 && agent > 0 && owner > 0
  const addFiles = (files: readonly File[]) => {
    if (isReady) add(files, { company, agent, owner })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry())
    setFolder(entries.some((entry) => entry?.isDirectory))
    const files = [...(event.dataTransfer?.files ?? [])]
    addFiles(files.filter((_, index) => !entries[index]?.isDirectory))
  }
  return (
    <>
      <div class="upload-to">
        <Choice
          label={documentsTexts.value.documents.agent}
          value={agent}
          all={agents}
          onChoose={(id) => setSelection({ ...selection, agent: id })}
        />
        <Choice
          label={documentsTexts.value.documents.owner}
          value={owner}
          all={owners}
          onChoose={(id) => setSelection({ ...selection, owner: id })}
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
            addFiles([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        {!isReady && (isLoaded || failure) && (
          <p class="hint">{failure ? failureText(failure).title : words.pick}</p>
        )}
      </fieldset>
      {hasFolder && <p class="refusal">{words.folder}</p>}
      <UploadList uploads={uploads} {...tools} />
    </>
  )
}

function Choice(props: {
  label: string
  value: number
  all: readonly DirectoryEntry[]
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

/** The selected entry, or the only one; 0: the user must select one. */
function selectedId(all: readonly DirectoryEntry[], selected: number): number {
  if (all.some(({ id }) => id === selected)) return selected
  return all.length === 1 ? (all[0]?.id ?? 0) : 0
}
