import { createApp } from 'vue';
import '../../src-renderer/styles.css';
import SeriesPage from './SeriesPage.vue';

createApp(SeriesPage).mount('#app');
