import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { refreshes } from './answer.ts'
import { FailureNotice } from './notice.tsx'
import { texts } from './view.ts'

/** A component whose file is fetched when it is first shown. */
export function lazily<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined
  return function Lazy(props: Props) {
    const [state, setState] = useState<'loading' | 'there' | 'failed'>(loaded ? 'there' : 'loading')
    const refresh = refreshes.value
    useEffect(() => {
      if (loaded) return
      load().then(
        (component) => {
          loaded = component
          setState('there')
        },
        () => setState('failed'),
      )
    }, [refresh])
    if (loaded) {
      const Component = loaded
      return <Component {...props} />
    }
    if (state === 'failed') return <FailureNotice failure={{ kind: 'offline', status: 0, detail: '' }} />
    return <p class="loading">{texts.value.loading}</p>
  }
}
