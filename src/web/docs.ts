// The reference at /docs: Scalar over /openapi.json, with everything off that would ask another server for something or
// keep a secret. The policy of the page (http/page/assets.ts) is the second lock.

type Scalar = { createApiReference(element: string, configuration: object): void }

const { Scalar } = window as unknown as { Scalar: Scalar }

Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  baseServerURL: location.origin,
  documentDownloadType: 'json',
})
