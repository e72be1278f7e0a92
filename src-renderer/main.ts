import { createApp } from 'vue';
import App from './App.vue';
import { bridgeClient } from './client/bridge-client.ts';
import { serverClient } from './client/server-client.ts';
import './styles.css';

const client = window.tutti === undefined ? serverClient() : bridgeClient(window.tutti);
createApp(App, { client }).mount('#app');
