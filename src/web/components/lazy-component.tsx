import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { FailureNotice } from './notice.tsx'
import { refreshCount } from './use-api.ts'
import { texts } from './view.ts'

/** Component whose file is fetched when it is first rendered. */
export function lazyComponent<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let Component: FunctionComponent<Props> | undefined
  return function Lazy(props: Props) {
    const [state, setState] = useState<'loading' | 'ready' | 'failed'>(Component ? 'ready' : 'loading')
    const refresh = refreshCount.value
    useEffect(() => {
      if (Component) return
      load().then(
        (component) => {
          Component = component
          setState('ready')
        },
        () => setState('failed'),
      )
    }, [refresh])
    if (Component) return <Component {...props} />
    if (state === 'failed') return <FailureNotice failure={{ kind: 'offline', status: 0, detail: '' }} />
    return <p class="loading">{texts.value.loading}</p>
  }
}
