export const tabs = [
  { id: 'live', title: 'Live' },
  { id: 'ensemble', title: 'Ensemble' },
  { id: 'predict', title: 'Predict' },
  { id: 'checkpoints', title: 'Checkpoints' },
  { id: 'logs', title: 'Logs' },
  { id: 'configuration', title: 'Configuration' },
] as const;

export type TabId = (typeof tabs)[number]['id'];

/** The tab in an address; the first where it names none. */
export function tabOf(text: string | undefined): TabId {
  return tabs.find(({ id }) => id === text)?.id ?? 'live';
}
