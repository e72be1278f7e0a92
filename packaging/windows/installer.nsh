; "Open with Tutti" for folders, which no file extension names.
!macro customInstall
  WriteRegStr SHELL_CONTEXT "Software\Classes\Directory\shell\Tutti" "" "Open with Tutti"
  WriteRegStr SHELL_CONTEXT "Software\Classes\Directory\shell\Tutti" "Icon" "$INSTDIR\${APP_EXECUTABLE_FILENAME}"
  WriteRegStr SHELL_CONTEXT "Software\Classes\Directory\shell\Tutti\command" "" '"$INSTDIR\${APP_EXECUTABLE_FILENAME}" "%V"'
!macroend

!macro customUnInstall
  DeleteRegKey SHELL_CONTEXT "Software\Classes\Directory\shell\Tutti"
!macroend
