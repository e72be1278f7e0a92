/** The parts of the Live tab that hold charts, in their order. */
export const sectionTitles = {
  quality: 'Quality',
  own: 'Own panels',
  uncertainty: 'Uncertainty',
  training: 'Training',
  system: 'System',
} as const;

export type SectionId = keyof typeof sectionTitles;

export const sectionIds = Object.keys(sectionTitles) as SectionId[];

/** The section of a metric that no family of charts names. */
export function sectionOfMetric(metric: string): SectionId {
  if (!metric.startsWith('train/')) return 'quality';
  return /(_seconds|_bytes|per_second|per_step)$/.test(metric) ? 'system' : 'training';
}
