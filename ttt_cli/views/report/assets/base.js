"use strict";
const UP = document.currentScript.getAttribute("src").replace("site.js", "");
